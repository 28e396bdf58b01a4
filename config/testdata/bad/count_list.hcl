resource "a" {
  type  = "x"
  count = ["a"]
}
# error 3:11 length
