# error 7:21 Did you mean "zone"?

locals {
  disk = { size = 1, zone = "a" }
}
output "a" {
  value = local.disk.zome
}
