# error 7:1 the marker never comes

locals {
  a = <<EOT
  text
}
