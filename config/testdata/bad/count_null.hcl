resource "a" {
  type  = "x"
  count = null
}
# error 3:11 null
