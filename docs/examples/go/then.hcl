name = "hello"
text = "Another text.\n\n"
