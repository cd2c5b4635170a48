/* A program that changes a global variable. */
static int counter;
int main(int argc, char **argv) { return argc == 2 && argv[1][0] == 'x' ? counter++ : 2; }
