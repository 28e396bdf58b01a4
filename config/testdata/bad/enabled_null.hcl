resource "a" {
  type    = "x"
  enabled = null
}
# error 3:13 true or false
