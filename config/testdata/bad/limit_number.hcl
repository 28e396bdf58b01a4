locals {
  a = 1e100000000
}
# error 2:7 Too large to be read safely
