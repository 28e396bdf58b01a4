resource "a" {
  type     = "x"
  for_each = ["a", "b"]
}
# error 3:14 toset
