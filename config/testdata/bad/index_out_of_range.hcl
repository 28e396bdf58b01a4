# error 7:18 local.l is a tuple of 2

locals {
  l = [1, 2]
}
output "a" {
  value = local.l[2]
}
