terraform {
  required_providers {
    test = { source = "example.com/test/test" }
  }
}
variable "label" {}
resource "test_object" "deep" {
  label = "${var.label}-${terraform.workspace}"
}
output "id" { value = test_object.deep.id }
