locals {
  zone = europe
}
# error 2:10 Unknown name
