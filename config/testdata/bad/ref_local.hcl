locals {
  a = local.bee
}
# error 2:7 Unknown name
