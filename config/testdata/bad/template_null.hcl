# error 5:11 null in a text

locals {
  n = null
  a = "x${local.n}"
}
