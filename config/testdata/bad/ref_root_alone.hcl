locals {
  a = var
}
# error 2:7 Incomplete reference
