static __thread int value;
int main(void) { return ++value; }
