locals {
  a = plug.sa.path
}
# error 2:7 Unknown name
