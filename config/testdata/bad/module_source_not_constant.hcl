variable "v" { default = "./x" }
module "a" { source = var.v }
# error 2:23 constant
