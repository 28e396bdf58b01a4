resource "a" {
  type     = "x"
  for_each = toset(["a", null])
}
# error 3:14 null in it
