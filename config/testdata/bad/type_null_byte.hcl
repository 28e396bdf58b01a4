resource "a" {
  type = "a b"
}
# error 2:10 Invalid type
