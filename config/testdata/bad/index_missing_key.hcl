# error 7:18 no such key

locals {
  m = { a = 1 }
}
output "a" {
  value = local.m["b"]
}
