resource "a" "b" {
  type = "x"
}
# error 1:14 Extraneous label for resource
