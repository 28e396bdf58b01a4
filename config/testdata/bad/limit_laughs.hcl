locals {
  a = "0123456789012345678901234567890123456789"
  b = "${local.a}${local.a}${local.a}${local.a}${local.a}${local.a}${local.a}${local.a}${local.a}${local.a}"
  c = "${local.b}${local.b}${local.b}${local.b}${local.b}${local.b}${local.b}${local.b}${local.b}${local.b}"
  d = "${local.c}${local.c}${local.c}${local.c}${local.c}${local.c}${local.c}${local.c}${local.c}${local.c}"
  e = "${local.d}${local.d}${local.d}${local.d}${local.d}${local.d}${local.d}${local.d}${local.d}${local.d}"
  f = "${local.e}${local.e}${local.e}${local.e}${local.e}${local.e}${local.e}${local.e}${local.e}${local.e}"
  g = "${local.f}${local.f}${local.f}${local.f}${local.f}${local.f}${local.f}${local.f}${local.f}${local.f}"
  z = "${local.g}${local.g}${local.g}${local.g}${local.g}${local.g}${local.g}${local.g}${local.g}${local.g}"
}
# error 8:7 Unusable value
