resource "a" {
  type = "x"
# error 1:14 Unclosed configuration block
