# error 5:3 one of them

resource "a" {
  type     = "x"
  count    = 2
  for_each = toset(["b"])
}
