"""Finds the ways to mutate each line of a C++ file. The sources are formatted by clang-format, so a
binary operator has a space on both sides, and the bracket of a template has not."""

import bisect
import re
from typing import NamedTuple

PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<=>": 7.5,
    "<": 7, "<=": 7, ">": 7, ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}
OPPOSITE = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
    "*": "/", "/": "*", "%": "/", "&&": "||", "||": "&&", "&": "|", "|": "&", "<<": ">>",
    ">>": "<<",
}
OPPOSITE_ASSIGNMENT = {
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|=", "<<=": ">>=",
    ">>=": "<<=",
}
ENDS_OPERAND = {
    ",", ";", "?", ":", "=", "return", "throw", "else", "do", "case", "co_return", "co_yield",
    *OPPOSITE_ASSIGNMENT, "%=", "^=",
}
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {")", "]", "}"}

COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^(\s"]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|"""
    r"""(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])'""",
    re.DOTALL,
)
TOKEN = re.compile(
    r"[A-Za-z_]\w*|\.?\d(?:[\w.]|'\w)*|<<=|>>=|<=>|->|::|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]="
    r"|\"_*\"|\S"
)
INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|[1-9][0-9']*|0)([uUlL]*)")
SKIPPED_LINE = re.compile(
    r"^\s*(#|\})|\\$|_ASSERT\b|"
    r"\b(constexpr|consteval|constinit|template|static_assert|using|typedef|operator|case|enum|"
    r"concept|requires|friend|virtual|extern|namespace|thread_local|goto|asm|default)\b"
)
TYPE_SCOPE = re.compile(r"\b(namespace|struct|class|union|enum|extern)\b(?!.*\()", re.DOTALL)
FUNCTION_HEAD = re.compile(
    r"(\)|\}|\bconst|\bnoexcept|\boverride|\bfinal|\bmutable|->[^;{}]*)\s*$"
)
DELETABLE = re.compile(
    r"(?!(return|delete|throw|break|continue|else|do|if|for|while|switch|try|auto|const|static)\b)"
    r"(\+\+|--)?[a-z_*(][\w.\->:\[\]()*, &!\"+']*;$"
)


class Candidate(NamedTuple):
    kind: str
    mutated: str  # the line as the mutant has it
    switchable: str  # the line with {} in place of the call that tells whether the mutant is on


class Token(NamedTuple):
    text: str
    start: int
    end: int


def candidates_of(text):
    """The candidates of each line of a file, by its index; lines without any are left out."""
    lines = text.split("\n")
    code = blanked(text).split("\n")
    in_function = lines_in_functions(code)
    left_out = multi_line_exclusions(code)
    found = {}
    for index, line in enumerate(code):
        if not in_function[index] or index in left_out or SKIPPED_LINE.search(line):
            continue
        before = last_token(code, index)
        after = first_token(code, index)
        if candidates := list(candidates_of_line(lines[index], line, before, after)):
            found[index] = candidates
    return found


def blanked(text):
    """The text with comments and the contents of literals overwritten, each character in place."""
    def overwrite(match):
        literal = match[0]
        if literal.startswith("/"):
            return re.sub(r"[^\n]", " ", literal)
        if "\n" in literal or len(literal) < 2:
            return re.sub(r"[^\n]", "_", literal)
        return '"' + "_" * (len(literal) - 2) + '"'
    return COMMENT_OR_LITERAL.sub(overwrite, text)


def lines_in_functions(code):
    """For each line, whether it starts within the body of a function."""
    result, scopes, head = [], ["type"], ""
    for line in code:
        result.append(scopes[-1] == "function")
        if line.startswith("#"):
            continue
        for character in line + "\n":
            if character == "{":
                scopes.append(scope_of(head, scopes[-1]))
                head = ""
            elif character == "}":
                if len(scopes) > 1:
                    scopes.pop()
                head = "}"
            elif character == ";":
                head = ""
            else:
                head += character
    return result


def scope_of(head, outer):
    if TYPE_SCOPE.search(re.sub(r"alignas\([^)]*\)|template <[^{]*>", "", head)):
        return "type"
    if outer == "type":
        return "function" if FUNCTION_HEAD.search(head) else "initializer"
    return outer


def multi_line_exclusions(code):
    """The lines of assertions and of constant expressions, from their first word to their end."""
    text = "\n".join(code)
    starts = [0]
    for line in code:
        starts.append(starts[-1] + len(line) + 1)
    excluded = set()
    for match in re.finditer(r"\b(\w*_ASSERT|static_assert|constexpr|consteval)\b", text):
        end = end_of_construct(text, match.end(), body=match[1].startswith("const"))
        first = bisect.bisect_right(starts, match.start()) - 1
        excluded.update(range(first, bisect.bisect_right(starts, end)))
    return excluded


def end_of_construct(text, position, body):
    """The position after the semicolon that ends a statement or, with `body`, after its braces."""
    depth = 0
    for index in range(position, len(text)):
        character = text[index]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0 or (depth == 0 and character == "}" and body):
                return index
        elif character == ";" and depth == 0:
            return index
    return len(text) - 1


def last_token(code, index):
    """The last token before the line. An operator at the end of a line has two operands."""
    for line in reversed(code[:index]):
        if not line.startswith("#") and (tokens := tokens_of(line.rstrip())):
            return tokens[-1].text
    return ";"


def first_token(code, index):
    for line in code[index + 1:]:
        tokens = TOKEN.findall(line)
        if tokens:
            return tokens[0]
    return ";"


def candidates_of_line(line, code, before, after):
    tokens = tokens_of(code)
    for index, token in enumerate(tokens):
        if token.text in OPPOSITE:
            yield from with_other_operator(line, tokens, index, before, after)
        elif token.text in ("true", "false") and index > 0 and tokens[index - 1].text == "return":
            other = "false" if token.text == "true" else "true"
            yield replaced("return value", line, token.start, token.end, other)
        elif token.text in ("if", "while"):
            yield from with_negated_condition(line, tokens, index)
        elif INTEGER.fullmatch(token.text):
            yield from with_larger_constant(line, code, token)
    yield from with_other_statement(line, code, tokens, before)


def tokens_of(code):
    """Operators with one operand, and brackets of templates, get a name that is no operator's."""
    tokens = []
    for match in TOKEN.finditer(code):
        token = Token(match[0], match.start(), match.end())
        if token.text in PRECEDENCE and not is_binary(code, tokens, token):
            token = token._replace(text="not binary")
        tokens.append(token)
    return tokens


def replaced(kind, line, start, end, mutated):
    original = line[start:end]
    return Candidate(
        kind,
        line[:start] + mutated + line[end:],
        escaped(line[:start]) + f"({{}} ? {escaped(mutated)} : {escaped(original)})"
        + escaped(line[end:]),
    )


def escaped(text):
    return text.replace("{", "{{").replace("}", "}}")


def is_binary(code, tokens_before, token):
    spaced = code[token.start - 1:token.start] == " " and code[token.end:token.end + 1] in (" ", "")
    if not spaced or not tokens_before:
        return False
    previous = tokens_before[-1].text
    return previous in CLOSING or (
        re.match(r'[\w"]', previous) is not None and previous not in ENDS_OPERAND
    )


def with_other_operator(line, tokens, index, before, after):
    operator = tokens[index].text
    precedence = PRECEDENCE[operator]
    start = start_of_operand(tokens, index, precedence, before)
    end = end_of_operand(tokens, index, precedence, after)
    if start is None or end is None or '"' in line[start:end]:
        return
    other = OPPOSITE[operator]
    mutated = line[start:tokens[index].start] + other + line[tokens[index].end:end]
    in_text = mutated if PRECEDENCE[other] == precedence else f"({mutated})"
    candidate = replaced("operator", line, start, end, f"({mutated})")
    switchable = candidate.switchable.replace(
        f" : {escaped(line[start:end])})", f" : ({escaped(line[start:end])}))"
    )
    yield Candidate("operator", line[:start] + in_text + line[end:], switchable)


def start_of_operand(tokens, index, precedence, before):
    """The column where the left operand starts; None if it starts on an earlier line."""
    depth = 0
    for position in range(index - 1, -1, -1):
        text = tokens[position].text
        if text in CLOSING:
            depth += 1
        elif text in OPENING:
            if depth == 0:
                return tokens[position + 1].start
            depth -= 1
        elif depth == 0 and ends_operand(text, precedence, strict=True):
            return tokens[position + 1].start
    starts_here = before in OPENING or before == "}" or ends_operand(before, precedence, True)
    return tokens[0].start if depth == 0 and starts_here else None


def end_of_operand(tokens, index, precedence, after):
    """The column where the right operand ends; None if it ends on a later line."""
    depth = 0
    for position in range(index + 1, len(tokens)):
        text = tokens[position].text
        if text in OPENING:
            depth += 1
        elif text in CLOSING:
            if depth == 0:
                return tokens[position - 1].end if position > index + 1 else None
            depth -= 1
        elif depth == 0 and position > index + 1 and ends_operand(text, precedence, strict=False):
            return tokens[position - 1].end
    if depth == 0 and index + 1 < len(tokens) and (after in CLOSING or after in (";", ",")):
        return tokens[-1].end
    return None


def ends_operand(text, precedence, strict):
    if text in ENDS_OPERAND:
        return True
    bound = PRECEDENCE.get(text)
    return bound is not None and (bound < precedence if strict else bound <= precedence)


def with_negated_condition(line, tokens, index):
    """Conditions that end on the line and declare nothing."""
    if index + 2 >= len(tokens) or tokens[index + 1].text != "(":
        return
    depth = 0
    for position in range(index + 1, len(tokens)):
        text = tokens[position].text
        depth += (text == "(") - (text == ")")
        if depth == 0:
            start, end = tokens[index + 2].start, tokens[position - 1].end
            condition = line[start:end]
            if condition in ("true", "false") or condition.endswith(";"):
                return
            candidate = replaced("condition", line, start, end, f"!({condition})")
            switchable = candidate.switchable.replace(
                f" : {escaped(condition)})", f" : static_cast<bool>({escaped(condition)}))"
            )
            yield candidate._replace(switchable=switchable)
            return
        if depth == 1 and text in (";", "=", "{"):
            return


def with_larger_constant(line, code, token):
    if "." in code[token.start - 1:token.start] or code[token.start - 1:token.start] == "<":
        return
    digits, suffix = INTEGER.fullmatch(token.text).groups()
    value = int(digits.replace("'", ""), 0) + 1
    text = f"{value:#x}" if digits.lower().startswith("0x") else str(value)
    yield replaced("constant", line, token.start, token.end, text + suffix)


def with_other_statement(line, code, tokens, before):
    """The line is one statement, which is deleted or assigns with another operator."""
    statement = code.strip()
    if before not in (";", "{", "}", ")", "else") or not statement.endswith(";"):
        return
    if statement.count(";") != 1 or depth_of(tokens) != 0:
        return
    indent = line[:len(line) - len(line.lstrip())]
    written = line[len(indent):tokens[-1].end]
    assigning = [token for token in tokens if token.text in ("=", *OPPOSITE_ASSIGNMENT)]
    assignment = assigning[0] if assigning else None
    if assignment is not None:
        if not is_expression(statement[:assignment.start - len(indent)].strip() + ";"):
            return
        if assignment.text in OPPOSITE_ASSIGNMENT:
            other = OPPOSITE_ASSIGNMENT[assignment.text]
            end = tokens[-1].end
            mutated = line[len(indent):assignment.start] + other + line[assignment.end:end]
            yield Candidate(
                "operator",
                indent + mutated,
                f"{indent}{{{{ if ({{}}) {escaped(mutated)} else {escaped(written)} }}}}",
            )
    elif not (is_expression(statement) and re.search(r"\w\(|\+\+|--", statement)):
        return
    yield Candidate(
        "deletion",
        indent + "// " + written,
        f"{indent}{{{{ if (!{{}}) {escaped(written)} }}}}",
    )


def depth_of(tokens):
    return sum((token.text in OPENING) - (token.text in CLOSING) for token in tokens)


def is_expression(statement):
    """A call or the left side of an assignment, rather than a declaration or another statement."""
    if not DELETABLE.match(statement):
        return False
    words = re.sub(r"\([^()]*\)", "()", re.sub(r"<[\w:, *]*>", "", statement))
    while words != (words := re.sub(r"\([^()]*(\(\)[^()]*)+\)", "()", words)):
        pass
    return re.search(r"\w[>&*]? [\w*&]|\w<|[>*&] \w", re.sub(r"\[[^\]]*\]", "", words)) is None
