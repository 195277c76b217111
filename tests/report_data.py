"""What tests of the page share."""

HOSTILE = "</script><img src=x onerror=alert(1)>"  # in class names, texts and file names
TRIED = 120  # digits that the page is about
