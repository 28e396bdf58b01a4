variable "count" { default = 1 }
variable "source" {
  type    = string
  default = "x"
}
# error 1:1 A variable cannot be called "count"
# error 2:1 A variable cannot be called "source"
