"""The reader of pages, and what counts as the same output."""

from __future__ import annotations

import pytest

from tests.pages.blocks import Block, blocks, shows

PAGE = """
# A page

    tree
      leaf

Type this:

    make demo     # a comment
    asnets models

```console
$ asnets check a.pddl
$ asnets solve a.pddl
value  3

time   0.1 s
```

```python
print(1)
```

```text
1
```

```toml
# mine/e.toml
a = 1
```

```bibtex
@book{x}
```
"""


def test_blocks() -> None:
    assert blocks(PAGE) == [
        Block("command", "make demo     # a comment"),
        Block("command", "asnets models"),
        Block("command", "asnets check a.pddl"),
        Block("command", "asnets solve a.pddl", "value  3\n\ntime   0.1 s\n"),
        Block("python", "print(1)\n", "1\n"),
        Block("file", "# mine/e.toml\na = 1\n", name="mine/e.toml"),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a  1\n", "a 1\n\n", True),
        ("a 1\n", "a 2\n", False),
        ("time 0.1 s, 30 MB\n", "time 17 s, 4 MB\n", True),
        ("a …, c\n", "a b, c\n", True),
        ("a …, c\n", "a b, d\n", False),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\n", "a\n", True),
        ("a\n…\n", "b\nc\n", False),
        ("a\n", "a\nb\n", False),
        ("cost (1.5)\n", "cost (115)\n", False),
    ],
)
def test_shows(expected: str, printed: str, same: bool) -> None:
    assert shows(expected, printed) is same
