variable "size" {
  default = 1
}
# var siz=2
# error - Undeclared variable
