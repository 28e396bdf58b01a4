locals {
  a = deployster.versoin
}
# error 2:7 Unknown name
