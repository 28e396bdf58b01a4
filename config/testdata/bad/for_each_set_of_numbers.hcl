resource "a" {
  type     = "x"
  for_each = toset([1, 2])
}
# error 3:14 numbers
