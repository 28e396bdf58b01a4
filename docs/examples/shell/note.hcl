name = "hello"
text = "It's a \"note\" — with two lines,\na backslash \\ and a tab\t.\n"
