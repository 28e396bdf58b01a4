resource "a" {
  type = "x"
  for_each = {}
}
# error 3:3 Unsupported argument
