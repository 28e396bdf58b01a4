# error 5:14 toset

resource "a" {
  type     = "x"
  for_each = ["b"]
}
