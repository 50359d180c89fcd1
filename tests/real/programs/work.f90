! Works for ever, in parallel regions.
program work
  implicit none
  integer, parameter :: n = 300
  double precision :: a(n, n), b(n, n), c(n, n), total
  integer :: i, j, k
  call random_number(a)
  call random_number(b)
  total = 0
  do
    !$omp parallel do private(i, j, k) num_threads(2)
    do j = 1, n
      do i = 1, n
        c(i, j) = 0
        do k = 1, n
          c(i, j) = c(i, j) + a(i, k) * b(k, j) / (1 + dabs(dsin(a(k, j))))
        end do
      end do
    end do
    !$omp end parallel do
    total = total + c(1, 1)
    if (total < 0) print *, total
  end do
end program work
