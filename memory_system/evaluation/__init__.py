"""Evaluation: how much of what should be recalled is recalled, measured on data with known right answers.

| module | what |
|---|---|
| `data` | a data set: memories in their original order, and questions with the ids of the right ones |
| `sources` `forms` | files and folders; which form a file is in |
| `locomo` `smallville` `plain` | the three forms |
| `metrics` | pure: recall@k, MRR, nDCG, bootstrap intervals |
| `lived` `personality` | a data set told to an agent as it happened, and queried through the public interface |
| `threshold` | what each threshold answers, for cues that have an answer and cues that have none |
| `confidence` `weights` | the fits behind the weights of the confidence and of hybrid relevancy |
| `trial` | every question under every preset, ranked by the product's own recall over one long-term tier |
| `experiment` | questions asked of a language model with memory and by the prompt alone; answers that are kept |
| `chats` `document_questions` `nested_lookup` | the questions of the four experiments |

No agent's memory is opened: the memories are in one table while they are queried, or in a world of their own in a
temporary folder.
"""
