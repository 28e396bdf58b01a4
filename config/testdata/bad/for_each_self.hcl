resource "a" {
  type     = "x"
  for_each = resource.a
}
# error 3:14 itself
