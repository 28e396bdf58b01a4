resource "a" {
  type    = "x"
  enabled = 2
}
# error 3:13 use count
