locals {
  a = path.modul
}
# error 2:7 Unknown name
