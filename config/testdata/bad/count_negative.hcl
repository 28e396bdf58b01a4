resource "a" {
  type  = "x"
  count = -1
}
# error 3:11 negative
