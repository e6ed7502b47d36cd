"""Scripts as they are sent: without comments and spare spaces, with all of their texts."""

import pytest

from gridatlas.build.site import compact


@pytest.mark.parametrize(
    ("script", "sent"),
    [
        ("  // why\n  if (a === 'b = c') { d(e, f); } // so\n", "if(a==='b = c'){d(e,f);}\n"),
        ("/* of\n two lines */\nconst a = `x = ${b}, y`;\n", "const a=`x = ${b}, y`;"),
        ('a = `${b ? ` (c = ${d})` : " : "} = e`;', 'a=`${b ? ` (c = ${d})` : " : "} = e`;'),
        ('say("one \\n two ; three");', 'say("one \\n two ; three");'),
        ("return a\nb = x - -y;\n", "return a\nb=x - -y;"),
    ],
    ids=["comments", "a template", "templates in a template", "a text", "lines and signs"],
)
def test_texts_stay_as_they_are(script: str, sent: str) -> None:
    assert compact(script) == sent
