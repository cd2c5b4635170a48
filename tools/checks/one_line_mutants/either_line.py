"""A line of C++ that is one of two when it runs: the line of the tree, or that of a mutant which
somebody wrote. If the line is a whole statement, the statements are alternatives; otherwise the
shortest whole expressions that contain all differences are."""

import re

from candidates import CLOSING, OPENING, OPPOSITE, blanked, depth_of, tokens_of

LABEL = re.compile(r"(case [\w:]+|default): ")
STARTS_STATEMENT = (";", "{", "}", ")", "else", ":")
DECLARATION = re.compile(
    r"(?!(return|delete|throw|else|case|if|for|while|do)\b)"
    r"((const|auto|static)\b|[\w:<>,]+[&*]* [*&]?\w+( =|[({;]))"
)
STARTS_EXPRESSION = {",", ";", "=", "return", "{", "}"}


def either_line(line, mutated, before, switch):
    """The text that behaves as `mutated` if the expression `switch` is true. `before` is the last
    token in front of the line."""
    indent = line[:len(line) - len(line.lstrip())]
    ours, theirs = without_comment(line), without_comment(mutated)
    label = LABEL.match(ours)
    if label and theirs.startswith(label[0]):
        rest, other = ours[label.end():], theirs[label.end():]
        return f"{indent}{label[0]}{{ if ({switch}) {{ {other} }} else {{ {rest} }} }}"
    if is_statement(ours, before) and not DECLARATION.match(ours):
        return f"{indent}{{ if ({switch}) {{ {theirs} }} else {{ {ours} }} }}"
    return indent + either_expression(ours, theirs, switch)


def without_comment(line):
    return line.strip()[:len(blanked(line.strip()).rstrip())]


def is_statement(code, before):
    return before in STARTS_STATEMENT and code.endswith(";") and depth_of(tokens_of(code)) == 0


def either_expression(ours, theirs, switch):
    our_tokens, their_tokens = tokens_of(blanked(ours)), tokens_of(blanked(theirs))
    same_before = common_length(our_tokens, their_tokens)
    same_behind = common_length(our_tokens[same_before:][::-1], their_tokens[same_before:][::-1])
    start = start_of_expression(our_tokens, same_before)
    end = end_of_expression(our_tokens, start, len(our_tokens) - same_behind)
    behind = len(our_tokens) - end
    if behind == 0 and our_tokens[-1].text in OPPOSITE and same_text(our_tokens, their_tokens, -1):
        behind = 1  # the expression goes on in the next line
    first = our_tokens[start].start
    last = our_tokens[len(our_tokens) - behind - 1].end
    other = theirs[first:their_tokens[len(their_tokens) - behind - 1].end]
    return f"{ours[:first]}({switch} ? ({other}) : ({ours[first:last]})){ours[last:]}"


def common_length(left, right):
    length = 0
    while length < min(len(left), len(right)) and same_text(left, right, length):
        length += 1
    return length


def same_text(left, right, index):
    return left[index].text == right[index].text


def start_of_expression(tokens, position):
    """The first token of the expression that goes on at `position`."""
    depth, colon = 0, None
    for index in range(position - 1, -1, -1):
        text = tokens[index].text
        if text in CLOSING:
            depth += 1
        elif text in OPENING and depth > 0:
            depth -= 1
        elif depth == 0 and (text in OPENING or text in STARTS_EXPRESSION):
            return index + 1 if colon is None else colon + 1
        elif depth == 0 and text == ":":
            colon = index  # of a loop over a range, unless it belongs to a condition
        elif depth == 0 and text == "?":
            colon = None
    return 0


def end_of_expression(tokens, start, position):
    """The end of the expression from `start` on that contains all tokens before `position`."""
    depth = 0
    for index in range(start, len(tokens)):
        text = tokens[index].text
        if index >= position and depth == 0 and (text in CLOSING or text in (",", ";")):
            return index
        depth += (text in OPENING) - (text in CLOSING)
    return len(tokens)
