# error 5:11 not negative

resource "a" {
  type  = "x"
  count = -1
}
