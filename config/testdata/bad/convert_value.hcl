output "b" { value = convert("x", list(number)) }
# error 1:31 list of number required
