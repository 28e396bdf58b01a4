# error 5:21 not by self

resource "a" {
  type   = "x"
  config = { name = self.name }
}
