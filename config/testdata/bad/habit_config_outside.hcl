# error 5:3 goes into config

resource "a" {
  type = "x"
  size = 10
}
