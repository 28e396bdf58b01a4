# error 5:17 nothing to go through

locals {
  n = 5
  a = [for x in local.n : x]
}
