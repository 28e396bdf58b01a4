# error 7:18 text has no attributes

locals {
  s = "text"
}
output "a" {
  value = local.s.name
}
