resource "a" {
  type    = "x"
  count   = 1
  enabled = true
}
# error 4:3 no elements
