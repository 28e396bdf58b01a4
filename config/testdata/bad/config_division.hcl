resource "a" {
  type = "x"
  config = { x = 1 / 0 }
}
# error 3:18 Unusable value
