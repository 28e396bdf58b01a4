resource "a" {
  type     = "x"
  for_each = "abc"
}
# error 3:14 text
