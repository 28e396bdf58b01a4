# error 4:8 never closed
# error 4:21 and the line ends
locals {
  a = "${upper("x")"
}
