resource "1st" {
  type = "x"
}
variable "a b" {
}
# error 1:10 Invalid name
# error 4:10 Invalid name
