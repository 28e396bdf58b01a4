terraform {
  required_providers {
    test = { source = "example.com/test/test" }
  }
}
variable "label" {}
resource "test_object" "in" {
  count = 2
  label = "${var.label}-${count.index}"
}
module "inner" {
  source = "./inner"
  label  = "${var.label}-inner"
}
output "ids" { value = join(",", concat(test_object.in[*].id, [module.inner.id])) }
