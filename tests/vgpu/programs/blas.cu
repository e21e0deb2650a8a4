/* SPDX-License-Identifier: Apache-2.0 */
// cuBLAS: vectors, matrix and vector, products of every kind, against plain loops.
#include "check.h"

#include <cmath>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

#define BLAS(call) CHECK ((call) == CUBLAS_STATUS_SUCCESS)

static cublasHandle_t handle;

template <class T>
static T *
put (const std::vector<T> &values)
{
  T *device;
  OK (cudaMalloc (&device, values.size () * sizeof (T)));
  OK (cudaMemcpy (device, values.data (), values.size () * sizeof (T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
static std::vector<T>
get (const T *device, size_t count)
{
  std::vector<T> values (count);
  OK (cudaMemcpy (values.data (), device, count * sizeof (T), cudaMemcpyDeviceToHost));
  return values;
}

static float
drawn (int i)
{
  return (float) ((i * 7919 + 13) % 1001 - 500) / 64.f;
}

template <class T>
static std::vector<T>
filled (int count, int from)
{
  std::vector<T> values (count);
  for (int i = 0; i < count; i++)
    values[i] = (T) drawn (from + i);
  return values;
}

static void
vectors ()
{
  enum { N = 100 };
  auto x = filled<float> (2 * N, 1), y = filled<float> (N, 5);
  float *dx = put (x), *dy = put (y), alpha = 1.5f, dot, norm, sum;
  int largest, smallest;
  BLAS (cublasSdot (handle, N, dx, 2, dy, 1, &dot));
  BLAS (cublasSnrm2 (handle, N, dx, 1, &norm));
  BLAS (cublasSasum (handle, N, dx, 1, &sum));
  BLAS (cublasIsamax (handle, N, dx, 1, &largest));
  BLAS (cublasIsamin (handle, N, dx, 1, &smallest));
  double want_dot = 0, want_norm = 0, want_sum = 0;
  int want_largest = 0, want_smallest = 0;
  for (int i = 0; i < N; i++)
    {
      want_dot += (double) x[2 * i] * y[i];
      want_norm += (double) x[i] * x[i];
      want_sum += std::fabs (x[i]);
      if (std::fabs (x[i]) > std::fabs (x[want_largest]))
        want_largest = i;
      if (std::fabs (x[i]) < std::fabs (x[want_smallest]))
        want_smallest = i;
    }
  CHECK (dot == (float) want_dot && norm == (float) std::sqrt (want_norm));
  CHECK (sum == (float) want_sum && largest == want_largest + 1 && smallest == want_smallest + 1);
  BLAS (cublasSaxpy (handle, N, &alpha, dx, 2, dy, 1));
  BLAS (cublasSscal (handle, N, &alpha, dx, 1));
  auto new_x = get (dx, N), new_y = get (dy, N);
  for (int i = 0; i < N; i++)
    CHECK (new_x[i] == alpha * x[i] && new_y[i] == (float) ((double) alpha * x[2 * i] + y[i]));
  // Scalars and results on the device.
  float *scalar = put (std::vector<float> {2.f, 0.f});
  BLAS (cublasSetPointerMode (handle, CUBLAS_POINTER_MODE_DEVICE));
  BLAS (cublasSscal (handle, N, scalar, dx, 1));
  BLAS (cublasSasum (handle, N, dx, 1, scalar + 1));
  BLAS (cublasSetPointerMode (handle, CUBLAS_POINTER_MODE_HOST));
  CHECK (get (dx, N)[3] == 2 * alpha * x[3]);
  CHECK (std::fabs (get (scalar, 2)[1] - 3 * want_sum) < 1e-4 * want_sum);
  // To and from the host, in steps.
  std::vector<float> back (2 * N, 7.f);
  BLAS (cublasSetVector (N, sizeof (float), x.data (), 1, dx, 2));
  BLAS (cublasGetVector (N, sizeof (float), dx, 2, back.data (), 1));
  for (int i = 0; i < N; i++)
    CHECK (back[i] == x[i]);
}

template <class In, class Out>
static void
product (cublasOperation_t op_a, cublasOperation_t op_b, cudaDataType in, cudaDataType out,
         cublasComputeType_t compute)
{
  enum { M = 13, N = 9, K = 21, LDA = 24, LDB = 23, LDC = 15, BATCH = 2 };
  auto a = filled<In> (LDA * 24 * BATCH, 3), b = filled<In> (LDB * 24 * BATCH, 11);
  auto c = filled<Out> (LDC * N * BATCH, 17);
  In *da = put (a), *db = put (b);
  Out *dc = put (c);
  float alpha = 0.5f, beta = 2.f;
  BLAS (cublasGemmStridedBatchedEx (handle, op_a, op_b, M, N, K, &alpha, da, in, LDA, LDA * 24, db,
                                    in, LDB, LDB * 24, &beta, dc, out, LDC, LDC * N, BATCH, compute,
                                    CUBLAS_GEMM_DEFAULT));
  auto got = get (dc, c.size ());
  for (int g = 0; g < BATCH; g++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < M; i++)
        {
          double sum = 0;
          for (int p = 0; p < K; p++)
            sum += (double) (float) a[g * LDA * 24 + (op_a ? i * LDA + p : p * LDA + i)]
                   * (double) (float) b[g * LDB * 24 + (op_b ? p * LDB + j : j * LDB + p)];
          size_t at = g * LDC * N + j * LDC + i;
          CHECK ((float) got[at] == (float) (Out) (float) (alpha * sum + beta * (float) c[at]));
        }
  // What lies between the columns stays.
  CHECK ((float) got[M] == (float) c[M]);
}

static void
products ()
{
  for (int t = 0; t < 4; t++)
    {
      auto a = (cublasOperation_t) (t & 1), b = (cublasOperation_t) (t >> 1);
      product<float, float> (a, b, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
      product<__half, float> (a, b, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F);
      product<__half, __half> (a, b, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
      product<__nv_bfloat16, __nv_bfloat16> (a, b, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
    }
  // Integers, exactly.
  std::vector<signed char> a (16 * 16), b (16 * 16);
  for (int i = 0; i < 256; i++)
    {
      a[i] = (signed char) (i * 37);
      b[i] = (signed char) (i * 91 + 5);
    }
  signed char *da = put (a), *db = put (b);
  int *dc = put (std::vector<int> (256)), alpha = 1, beta = 0;
  BLAS (cublasGemmEx (handle, CUBLAS_OP_T, CUBLAS_OP_N, 16, 16, 16, &alpha, da, CUDA_R_8I, 16, db,
                      CUDA_R_8I, 16, &beta, dc, CUDA_R_32I, 16, CUBLAS_COMPUTE_32I,
                      CUBLAS_GEMM_DEFAULT));
  auto got = get (dc, 256);
  int want = 0;
  for (int p = 0; p < 16; p++)
    want += a[3 * 16 + p] * b[5 * 16 + p];
  CHECK (got[5 * 16 + 3] == want);
  // A batch of pointers; beta 0 does not look at what was there.
  float nan = NAN, one = 1, zero = 0;
  float *x = put (std::vector<float> {1, 2, 3, 4}), *y = put (std::vector<float> {5, 6, 7, 8});
  float *z = put (std::vector<float> (4, nan));
  float **px = put (std::vector<float *> {x}), **py = put (std::vector<float *> {y});
  float **pz = put (std::vector<float *> {z});
  BLAS (cublasSgemmBatched (handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, px, 2, py, 2, &zero, pz,
                            2, 1));
  auto product = get (z, 4);
  CHECK (product[0] == 23 && product[1] == 34 && product[2] == 31 && product[3] == 46);
  // Complex, conjugated.
  cuComplex u = make_cuComplex (1, 2), v = make_cuComplex (3, -1), w, i1 = make_cuComplex (1, 0);
  cuComplex *du = put (std::vector<cuComplex> {u}), *dv = put (std::vector<cuComplex> {v}), *dw;
  cuComplex none = make_cuComplex (0, 0);
  OK (cudaMalloc (&dw, sizeof w));
  BLAS (cublasCgemm (handle, CUBLAS_OP_C, CUBLAS_OP_N, 1, 1, 1, &i1, du, 1, dv, 1, &none, dw, 1));
  w = get (dw, 1)[0];
  CHECK (w.x == 1 && w.y == -7);
  // Sizes that cannot be.
  CHECK (cublasSgemm (handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, 2, y, 4, &zero, z, 4)
         == CUBLAS_STATUS_INVALID_VALUE);
}

static void
matrix_and_vector ()
{
  enum { M = 7, N = 5 };
  auto a = filled<double> (M * N, 2), x = filled<double> (M, 4), y = filled<double> (M, 6);
  double *da = put (a), *dx = put (x), *dy = put (y), alpha = 2, beta = -1;
  BLAS (cublasDgemv (handle, CUBLAS_OP_N, M, N, &alpha, da, M, dx, 1, &beta, dy, 1));
  auto got = get (dy, M);
  for (int i = 0; i < M; i++)
    {
      double sum = 0;
      for (int j = 0; j < N; j++)
        sum += a[j * M + i] * x[j];
      CHECK (std::fabs (got[i] - (alpha * sum - y[i])) < 1e-12 * (1 + std::fabs (sum)));
    }
  BLAS (cublasDgemv (handle, CUBLAS_OP_T, M, N, &alpha, da, M, dx, 1, &beta, dy, 1));
  BLAS (cublasDger (handle, M, N, &alpha, dx, 1, dy, 1, da, M));
}

// A layer as training code has it: bias and activation behind the product, transposed weights.
static void
layer ()
{
  enum { IN = 6, OUT = 5, ROWS = 4 };
  auto weights = filled<float> (IN * OUT, 1), x = filled<float> (IN * ROWS, 3),
       bias = filled<float> (OUT, 5);
  float *dw = put (weights), *dx = put (x), *db = put (bias), *dy, *daux, one = 0.125f, zero = 0;
  OK (cudaMalloc (&dy, OUT * ROWS * sizeof (float)));
  OK (cudaMalloc (&daux, OUT * ROWS * sizeof (float)));
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t w_layout, x_layout, y_layout;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t heuristic;
  int found = 0;
  cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  int64_t aux_leading = OUT;
  BLAS (cublasLtCreate (&lt));
  BLAS (cublasLtMatmulDescCreate (&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  BLAS (cublasLtMatmulDescSetAttribute (operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                        sizeof transposed));
  BLAS (cublasLtMatmulDescSetAttribute (operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                        sizeof epilogue));
  BLAS (cublasLtMatmulDescSetAttribute (operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &db,
                                        sizeof db));
  BLAS (cublasLtMatmulDescSetAttribute (operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &daux,
                                        sizeof daux));
  BLAS (cublasLtMatmulDescSetAttribute (operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                        &aux_leading, sizeof aux_leading));
  BLAS (cublasLtMatrixLayoutCreate (&w_layout, CUDA_R_32F, IN, OUT, IN));
  BLAS (cublasLtMatrixLayoutCreate (&x_layout, CUDA_R_32F, IN, ROWS, IN));
  BLAS (cublasLtMatrixLayoutCreate (&y_layout, CUDA_R_32F, OUT, ROWS, OUT));
  BLAS (cublasLtMatmulPreferenceCreate (&preference));
  BLAS (cublasLtMatmulAlgoGetHeuristic (lt, operation, w_layout, x_layout, y_layout, y_layout,
                                        preference, 1, &heuristic, &found));
  CHECK (found == 1 && heuristic.state == CUBLAS_STATUS_SUCCESS);
  BLAS (cublasLtMatmul (lt, operation, &one, dw, w_layout, dx, x_layout, &zero, dy, y_layout, dy,
                        y_layout, &heuristic.algo, nullptr, 0, 0));
  auto y = get (dy, OUT * ROWS), aux = get (daux, OUT * ROWS);
  for (int r = 0; r < ROWS; r++)
    for (int o = 0; o < OUT; o++)
      {
        double sum = 0;
        for (int i = 0; i < IN; i++)
          sum += (double) weights[o * IN + i] * x[r * IN + i];
        double before = one * sum + bias[o];
        double inner = before + 0.044715 * before * before * before;
        double after = 0.5 * before * (1 + std::tanh (std::sqrt (2 / M_PI) * inner));
        CHECK (aux[r * OUT + o] == (float) before);
        CHECK (std::fabs (y[r * OUT + o] - after) <= 1e-6 * std::fabs (after));
      }
  BLAS (cublasLtMatrixLayoutDestroy (w_layout));
  BLAS (cublasLtMatrixLayoutDestroy (x_layout));
  BLAS (cublasLtMatrixLayoutDestroy (y_layout));
  BLAS (cublasLtMatmulPreferenceDestroy (preference));
  BLAS (cublasLtMatmulDescDestroy (operation));
  BLAS (cublasLtDestroy (lt));
}

int
main ()
{
  BLAS (cublasCreate (&handle));
  cudaStream_t stream;
  OK (cudaStreamCreate (&stream));
  BLAS (cublasSetStream (handle, stream));
  BLAS (cublasSetMathMode (handle, CUBLAS_TF32_TENSOR_OP_MATH));
  vectors ();
  products ();
  matrix_and_vector ();
  layer ();
  OK (cudaDeviceSynchronize ());
  BLAS (cublasDestroy (handle));
  std::printf ("fine\n");
}
