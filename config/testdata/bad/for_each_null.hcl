resource "a" {
  type     = "x"
  for_each = null
}
# error 3:14 null
